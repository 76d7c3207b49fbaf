"""Episodes that others play from afar: sessions, and the servers that offer them."""

"""An online store: customers, orders, products, and the tools of its customer service."""

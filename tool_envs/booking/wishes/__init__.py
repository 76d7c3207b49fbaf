"""What customers of the airline can want: a maker for each kind of wish, and what is right for it."""

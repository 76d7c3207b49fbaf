"""The airline's episodes on rows alone: what tools, customer, rules and grade do, without a text."""

"""An airline's customer service of our own: data, tools, rules, tasks."""

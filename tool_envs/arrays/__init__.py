"""The array view: the episodes of a JSON view as fixed-size arrays with action masks."""

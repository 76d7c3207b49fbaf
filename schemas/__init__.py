"""Released tool schemas and record schemas: data only, locked by `LOCK.json`."""

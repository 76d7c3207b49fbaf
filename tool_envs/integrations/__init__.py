"""What foreign libraries need to use our environments: one file for each library, imported when asked for."""

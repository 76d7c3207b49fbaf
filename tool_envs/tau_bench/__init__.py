"""tau-bench's frozen slices: its data, its tools byte for byte, and its exact reward."""

"""The desk of the library."""

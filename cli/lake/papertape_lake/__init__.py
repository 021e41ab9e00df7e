"""What papertape has Python do with Parquet; ../__main__.py runs it."""

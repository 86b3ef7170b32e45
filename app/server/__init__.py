"""What the service changes of uvicorn."""

"""What `labelserve doctor` looks at. Each check gives findings, and none changes anything."""

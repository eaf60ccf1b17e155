"""What happens when something runs short: memory limits of every engine and solver."""

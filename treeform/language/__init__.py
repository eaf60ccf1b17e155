"""The language of problems: components, requirements, ports, formulations, objectives, and the question they make."""

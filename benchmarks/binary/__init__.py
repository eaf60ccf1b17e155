"""Trees on 0/1 features: the binary engines beside pystreed, pydl8.5 and pytrees-rs."""

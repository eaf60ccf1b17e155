"""Models as programs that run elsewhere: each decides every row as the model does."""

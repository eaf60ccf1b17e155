"""One search on several workers: two beside one, what dividing costs, and up to a thousand by simulation."""

"""One search on several workers: two beside one, and what dividing costs."""

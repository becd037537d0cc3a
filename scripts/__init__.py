"""What is run by hand to remake things that are shipped."""

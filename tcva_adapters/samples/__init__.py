"""What is judged: samples, and the files they come from and go to."""

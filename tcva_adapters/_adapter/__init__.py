"""What the four adapters share; no framework is imported here. Files are called as in each adapter."""

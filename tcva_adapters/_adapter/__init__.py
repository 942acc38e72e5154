"""What the four adapters share; no framework is imported here. Its files have the names of those in each adapter."""

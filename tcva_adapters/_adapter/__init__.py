"""What the four adapters share. No framework is imported here."""

"""How far somebody outside was told of each room's feed."""

"""How a Spark program is started, watched and cancelled."""

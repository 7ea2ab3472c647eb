"""Web Push: people who have asked for it are notified of urgent questions on devices where no page is open."""

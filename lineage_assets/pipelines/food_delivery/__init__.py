"""Food delivery: a restaurant feed, a week of orders and deliveries, and discounts for those who waited too long."""

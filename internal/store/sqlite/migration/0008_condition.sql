-- What people look at to see how the service does. The same as
-- postgres/migration/0008_condition.sql.

-- version is of the program that a node runs; '' of one before this was kept.
ALTER TABLE nodes ADD COLUMN version TEXT NOT NULL DEFAULT '';

-- Deliveries that were tried and not taken are few among those that wait.
CREATE INDEX deliveries_failing ON deliveries (webhook, position) WHERE status = 'pending' AND attempts > 0;

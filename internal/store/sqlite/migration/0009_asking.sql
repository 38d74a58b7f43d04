-- What waits for somebody is little among all there is: Drafts, and what is
-- Frozen. The same as postgres/migration/0009_asking.sql.
CREATE INDEX contracts_asking ON contracts (updated_at, id) WHERE state IN ('Draft', 'Frozen');

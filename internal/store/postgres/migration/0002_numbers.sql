-- The numbers of ids come from sequences, not from the table counters: whoever
-- made a contract kept all others that make one waiting until its commit. A
-- number is then lost with its transaction, or with the server; ids have gaps.
-- SQLite has one writer, and counts on.
CREATE SEQUENCE number_intentcontract;
CREATE SEQUENCE number_taskseed;
CREATE SEQUENCE number_acceptance;
CREATE SEQUENCE number_publishgate;
CREATE SEQUENCE number_evidence;
SELECT setval('number_' || lower(name), value + 1, false) FROM counters;

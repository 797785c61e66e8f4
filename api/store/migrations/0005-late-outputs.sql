-- Outputs are deleted twice: a worker that was stopped may still be sending when the first deletion comes.

alter table file_deletions add column again_at timestamptz;  -- null: once is enough

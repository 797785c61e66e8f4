-- The trace of a job continues in other processes and after restarts.

alter table jobs add column traceparent text;  -- context of the span of the request that created it; null: not traced

-- Evictions, preemptions and node drains have a budget of their own beside the attempts of a job.

alter table jobs add column disruptions smallint not null default 0;  -- attempts that were lost by them

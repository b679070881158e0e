-- $1 name, $2 text, $3 ms to keep it. Some of those whose time is over go, unless somebody is at them.
WITH over AS (
  SELECT name FROM {notes} WHERE lapses <= clock_timestamp() AND name <> $1 LIMIT 100 FOR UPDATE SKIP LOCKED
), gone AS (
  DELETE FROM {notes} n USING over WHERE n.name = over.name
)
INSERT INTO {notes} (name, text, lapses) VALUES ($1, $2, clock_timestamp() + $3::float8 * interval '1 ms')
ON CONFLICT (name) DO UPDATE SET text = EXCLUDED.text, lapses = EXCLUDED.lapses

-- Keeps a note for so many ms; without a text it is forgotten. Some of those whose time is over go, unless somebody is at them.
CREATE OR REPLACE PROCEDURE {commit_note}(a_name bytea, a_text text, ms float8)
LANGUAGE plpgsql AS $holdfast$
BEGIN
{prelude}
  IF a_text IS NULL THEN
    DELETE FROM {notes} WHERE name = a_name;
  ELSE
    DELETE FROM {notes} n USING (
      SELECT name FROM {notes} WHERE expires <= clock_timestamp() AND name <> a_name LIMIT 100 FOR UPDATE SKIP LOCKED
    ) AS over WHERE n.name = over.name;
    INSERT INTO {notes} (name, text, expires) VALUES (a_name, a_text, clock_timestamp() + ms * interval '1 ms')
      ON CONFLICT (name) DO UPDATE SET text = EXCLUDED.text, expires = EXCLUDED.expires;
  END IF;
  COMMIT;
END
$holdfast$;

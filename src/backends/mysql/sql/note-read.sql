-- :name. One row: its text, NULL where there is none whose time is not over; and whether the server takes no writes, for one that was
-- the primary does not know what was written since.
SELECT note.text AS text, {closed} AS closed, {open} AS open
FROM (SELECT 1) AS one LEFT JOIN {notes} AS note ON note.name = :name AND note.expires > {earliest}

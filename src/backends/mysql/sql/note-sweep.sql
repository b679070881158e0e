-- Some of those whose time is over.
DELETE FROM {notes} WHERE lapses <= {now} LIMIT 100

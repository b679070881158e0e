-- Some of those whose time is over.
DELETE FROM {notes} WHERE lapses <= {earliest} LIMIT 100

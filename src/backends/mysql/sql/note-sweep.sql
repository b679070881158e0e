-- Some of those whose time is over.
DELETE FROM {notes} WHERE expires <= {earliest} LIMIT 100

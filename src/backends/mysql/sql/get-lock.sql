-- Takes the named lock of a key in this session. Names are of the whole server, of 64 characters at most, and on some
-- servers without case: hence a hash, in lower case, with the database mixed in.
-- :database (of the table, or empty: the session's), :name (prefix/key), :wait (s)
-- :notAfter  the server's time after which it is too late
-- Result: got: 1 yes, 0 no, -1 too late, NULL an error. now.
SELECT IF({latest} > CAST(:notAfter AS SIGNED), -1, GET_LOCK({hash}, CAST(:wait AS SIGNED))) AS got, {earliest} AS now

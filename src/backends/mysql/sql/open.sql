-- What is open on the session: 2 autocommit is off, 1 a transaction, 0 nothing. NULL on MySQL, which has no variable for it, and
-- takes the inside for a comment: there the answer to a statement without rows tells.
IF(@@autocommit, COALESCE(/*M! @@in_transaction, */ NULL), 2)

-- Which server a connection leads to, whatever is in between.
SELECT @@hostname AS host, @@port AS port, @@server_id AS id

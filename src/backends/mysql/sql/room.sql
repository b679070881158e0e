-- Whether the line has room for one more place, of 2,048 bytes at most. In a mode that is not strict, a CONCAT above
-- max_allowed_packet is no error but NULL, which empties the line, and a value above the column's size is cut off.
LENGTH(line) + 2048 <= LEAST(@@max_allowed_packet, 16777215)

-- Attachments are read part by part, which costs the whole of one that is kept compressed, each time. Those that are there stay
-- as they are.
alter table attachments alter column content set storage external;

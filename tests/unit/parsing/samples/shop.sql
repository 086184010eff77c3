-- Users of the shop.
CREATE TABLE IF NOT EXISTS shop.users (
    id serial PRIMARY KEY
);

CREATE OR REPLACE FUNCTION total(order_id int) RETURNS numeric AS $$
DECLARE
    result numeric;
BEGIN

    RETURN result;
END;
$$ LANGUAGE plpgsql;

create view "active" as select * from users;

create table orders (
    id serial
);
CREATE INDEX by_user ON orders (
    user_id
);

ALTER TABLE users ADD COLUMN age int;

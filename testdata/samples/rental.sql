-- A film rental, after the manner of the sample databases that PostgreSQL users
-- know: serial keys, a domain, an enum, arrays, full-text search, triggers that
-- keep last_update, foreign keys everywhere, partitions by month, and views.

CREATE TYPE public.mpaa_rating AS ENUM ('G', 'PG', 'PG-13', 'R', 'NC-17');

CREATE DOMAIN public.year AS integer
    CONSTRAINT year_check CHECK (VALUE BETWEEN 1901 AND 2155);

CREATE FUNCTION public.last_updated() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.last_update := CURRENT_TIMESTAMP;
    RETURN NEW;
END
$$;

-- Tables

CREATE TABLE public.country (
    country_id  serial PRIMARY KEY,
    country     text NOT NULL,
    last_update timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE public.city (
    city_id     serial PRIMARY KEY,
    city        text NOT NULL,
    country_id  integer NOT NULL REFERENCES public.country ON UPDATE CASCADE ON DELETE RESTRICT,
    last_update timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX idx_fk_country_id ON public.city (country_id);

CREATE TABLE public.address (
    address_id  serial PRIMARY KEY,
    address     text NOT NULL,
    address2    text,
    district    text NOT NULL,
    city_id     integer NOT NULL REFERENCES public.city ON UPDATE CASCADE ON DELETE RESTRICT,
    postal_code text,
    phone       varchar(20) NOT NULL,
    last_update timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX idx_fk_city_id ON public.address (city_id);

CREATE TABLE public.language (
    language_id serial PRIMARY KEY,
    name        character(20) NOT NULL,
    last_update timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE public.actor (
    actor_id    serial PRIMARY KEY,
    first_name  text NOT NULL,
    last_name   text NOT NULL,
    last_update timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX idx_actor_last_name ON public.actor (last_name);

CREATE TABLE public.category (
    category_id serial PRIMARY KEY,
    name        text NOT NULL,
    last_update timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE public.film (
    film_id              serial PRIMARY KEY,
    title                text NOT NULL,
    description          text,
    release_year         public.year,
    language_id          integer NOT NULL REFERENCES public.language ON UPDATE CASCADE ON DELETE RESTRICT,
    original_language_id integer REFERENCES public.language ON UPDATE CASCADE ON DELETE RESTRICT,
    rental_duration      smallint NOT NULL DEFAULT 3,
    rental_rate          numeric(4,2) NOT NULL DEFAULT 4.99,
    length               smallint,
    replacement_cost     numeric(5,2) NOT NULL DEFAULT 19.99,
    rating               public.mpaa_rating DEFAULT 'G',
    special_features     text[] NOT NULL DEFAULT '{}',
    fulltext             tsvector NOT NULL,
    last_update          timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT film_length_check CHECK (length > 0)
);
COMMENT ON TABLE public.film IS 'What can be rented; a copy of it is in inventory';
COMMENT ON COLUMN public.film.fulltext IS 'Title and description, kept by a trigger';
CREATE INDEX film_fulltext_idx ON public.film USING gist (fulltext);
CREATE INDEX idx_title ON public.film (title);
CREATE INDEX idx_title_prefix ON public.film (lower(title) text_pattern_ops);
CREATE INDEX idx_fk_language_id ON public.film (language_id);
CREATE INDEX idx_fk_original_language_id ON public.film (original_language_id) WHERE original_language_id IS NOT NULL;
CREATE TRIGGER film_fulltext_trigger BEFORE INSERT OR UPDATE ON public.film
    FOR EACH ROW EXECUTE FUNCTION tsvector_update_trigger('fulltext', 'pg_catalog.english', 'title', 'description');

CREATE TABLE public.film_actor (
    actor_id    integer NOT NULL REFERENCES public.actor ON UPDATE CASCADE ON DELETE RESTRICT,
    film_id     integer NOT NULL REFERENCES public.film ON UPDATE CASCADE ON DELETE RESTRICT,
    last_update timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (actor_id, film_id)
);
CREATE INDEX idx_fk_film_id ON public.film_actor (film_id);

CREATE TABLE public.film_category (
    film_id     integer NOT NULL REFERENCES public.film ON UPDATE CASCADE ON DELETE RESTRICT,
    category_id integer NOT NULL REFERENCES public.category ON UPDATE CASCADE ON DELETE RESTRICT,
    last_update timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (film_id, category_id)
);

-- store and staff reference each other
CREATE TABLE public.store (
    store_id         serial PRIMARY KEY,
    manager_staff_id integer NOT NULL,
    address_id       integer NOT NULL REFERENCES public.address ON UPDATE CASCADE ON DELETE RESTRICT,
    last_update      timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX idx_unq_manager_staff_id ON public.store (manager_staff_id);

CREATE TABLE public.staff (
    staff_id    serial PRIMARY KEY,
    first_name  text NOT NULL,
    last_name   text NOT NULL,
    address_id  integer NOT NULL REFERENCES public.address ON UPDATE CASCADE ON DELETE RESTRICT,
    email       text,
    store_id    integer NOT NULL REFERENCES public.store DEFERRABLE INITIALLY DEFERRED,
    active      boolean NOT NULL DEFAULT true,
    username    text NOT NULL,
    password    text,
    last_update timestamptz NOT NULL DEFAULT now(),
    picture     bytea
);
ALTER TABLE public.store ADD CONSTRAINT store_manager_staff_id_fkey
    FOREIGN KEY (manager_staff_id) REFERENCES public.staff ON UPDATE CASCADE ON DELETE RESTRICT DEFERRABLE INITIALLY DEFERRED;

CREATE TABLE public.customer (
    customer_id serial PRIMARY KEY,
    store_id    integer NOT NULL REFERENCES public.store ON UPDATE CASCADE ON DELETE RESTRICT,
    first_name  text NOT NULL,
    last_name   text NOT NULL,
    email       text,
    address_id  integer NOT NULL REFERENCES public.address ON UPDATE CASCADE ON DELETE RESTRICT,
    activebool  boolean NOT NULL DEFAULT true,
    create_date date NOT NULL DEFAULT CURRENT_DATE,
    last_update timestamptz DEFAULT now(),
    active      integer
);
CREATE INDEX idx_fk_address_id ON public.customer (address_id);
CREATE INDEX idx_fk_store_id ON public.customer (store_id);
CREATE INDEX idx_last_name ON public.customer (last_name);

CREATE TABLE public.inventory (
    inventory_id serial PRIMARY KEY,
    film_id      integer NOT NULL REFERENCES public.film ON UPDATE CASCADE ON DELETE RESTRICT,
    store_id     integer NOT NULL REFERENCES public.store ON UPDATE CASCADE ON DELETE RESTRICT,
    last_update  timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX idx_store_id_film_id ON public.inventory (store_id, film_id);

CREATE TABLE public.rental (
    rental_id     serial PRIMARY KEY,
    rental_date   timestamptz NOT NULL,
    inventory_id  integer NOT NULL REFERENCES public.inventory ON UPDATE CASCADE ON DELETE RESTRICT,
    customer_id   integer NOT NULL REFERENCES public.customer ON UPDATE CASCADE ON DELETE RESTRICT,
    return_date   timestamptz,
    rental_period tstzrange GENERATED ALWAYS AS (tstzrange(rental_date, return_date)) STORED,
    staff_id      integer NOT NULL REFERENCES public.staff ON UPDATE CASCADE ON DELETE RESTRICT,
    last_update   timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX idx_fk_inventory_id ON public.rental (inventory_id);
CREATE UNIQUE INDEX idx_unq_rental_date_inventory_id_customer_id ON public.rental (rental_date, inventory_id, customer_id);

CREATE SEQUENCE public.payment_payment_id_seq;
CREATE TABLE public.payment (
    payment_id   integer NOT NULL DEFAULT nextval('public.payment_payment_id_seq'),
    customer_id  integer NOT NULL REFERENCES public.customer ON UPDATE CASCADE ON DELETE RESTRICT,
    staff_id     integer NOT NULL REFERENCES public.staff ON UPDATE CASCADE ON DELETE RESTRICT,
    rental_id    integer NOT NULL REFERENCES public.rental ON UPDATE CASCADE ON DELETE RESTRICT,
    amount       numeric(5,2) NOT NULL,
    payment_date timestamptz NOT NULL,
    PRIMARY KEY (payment_date, payment_id)
) PARTITION BY RANGE (payment_date);
CREATE INDEX idx_fk_customer_id ON public.payment (customer_id);
CREATE TABLE public.payment_p2024_01 PARTITION OF public.payment FOR VALUES FROM ('2024-01-01 00:00:00+00') TO ('2024-02-01 00:00:00+00');
CREATE TABLE public.payment_p2024_02 PARTITION OF public.payment FOR VALUES FROM ('2024-02-01 00:00:00+00') TO ('2024-03-01 00:00:00+00');
CREATE TABLE public.payment_later PARTITION OF public.payment FOR VALUES FROM ('2024-03-01 00:00:00+00') TO (MAXVALUE);

CREATE VIEW public.film_list AS
SELECT f.film_id AS fid, f.title, f.description, c.name AS category, f.rental_rate AS price, f.rating,
       string_agg(a.first_name || ' ' || a.last_name, ', ' ORDER BY a.actor_id) AS actors
FROM public.film AS f
LEFT JOIN public.film_category USING (film_id)
LEFT JOIN public.category AS c USING (category_id)
LEFT JOIN public.film_actor USING (film_id)
LEFT JOIN public.actor AS a USING (actor_id)
GROUP BY f.film_id, c.name;

CREATE VIEW public.sales_by_store AS
SELECT s.store_id, sum(p.amount) AS total_sales
FROM public.payment AS p
JOIN public.rental AS r USING (rental_id)
JOIN public.inventory AS i USING (inventory_id)
JOIN public.store AS s ON s.store_id = i.store_id
GROUP BY s.store_id;

CREATE MATERIALIZED VIEW public.rentals_by_month AS
SELECT date_trunc('month', rental_date) AS month, count(*) AS rentals FROM public.rental GROUP BY 1;

DO $$
DECLARE
    v_table text;
BEGIN
    FOREACH v_table IN ARRAY ARRAY['country', 'city', 'address', 'language', 'actor', 'category', 'film', 'film_actor',
                                   'film_category', 'store', 'staff', 'customer', 'inventory', 'rental'] LOOP
        EXECUTE format('CREATE TRIGGER last_updated BEFORE UPDATE ON public.%I FOR EACH ROW EXECUTE FUNCTION public.last_updated()', v_table);
    END LOOP;
END
$$;

-- Rows

INSERT INTO public.country (country) SELECT 'Country ' || n FROM generate_series(1, 10) AS n;
INSERT INTO public.city (city, country_id) SELECT 'City ' || n, 1 + n % 10 FROM generate_series(1, 40) AS n;
INSERT INTO public.address (address, district, city_id, phone) SELECT n || ' Road', 'District ' || n % 7, 1 + n % 40, '555-' || n FROM generate_series(1, 120) AS n;
INSERT INTO public.language (name) VALUES ('English'), ('Norwegian'), ('Swedish');
INSERT INTO public.actor (first_name, last_name) SELECT 'First ' || n, 'Last ' || n % 60 FROM generate_series(1, 100) AS n;
INSERT INTO public.category (name) SELECT 'Category ' || n FROM generate_series(1, 8) AS n;
INSERT INTO public.film (title, description, release_year, language_id, original_language_id, length, rating, special_features)
SELECT 'Film ' || n, 'About the number ' || n, 1950 + n % 70, 1 + n % 3, CASE WHEN n % 5 = 0 THEN 2 END, 60 + n % 90,
       (enum_range(NULL::public.mpaa_rating))[1 + n % 5], CASE WHEN n % 2 = 0 THEN ARRAY['Trailers', 'It''s, {odd}'] ELSE '{}' END
FROM generate_series(1, 200) AS n;
INSERT INTO public.film_actor (actor_id, film_id) SELECT 1 + (n * 7) % 100, 1 + n % 200 FROM generate_series(1, 300) AS n ON CONFLICT DO NOTHING;
INSERT INTO public.film_category (film_id, category_id) SELECT n, 1 + n % 8 FROM generate_series(1, 200) AS n;
BEGIN;
INSERT INTO public.store (manager_staff_id, address_id) VALUES (1, 1), (2, 2);
INSERT INTO public.staff (first_name, last_name, address_id, store_id, username, picture)
VALUES ('Ann', 'One', 3, 1, 'ann', '\x00ff'), ('Bo', 'Two', 4, 2, 'bo', NULL);
COMMIT;
INSERT INTO public.customer (store_id, first_name, last_name, email, address_id, create_date, active)
SELECT 1 + n % 2, 'First ' || n, 'Last ' || n, CASE WHEN n % 3 > 0 THEN n || '@example.org' END, 1 + n % 120, DATE '2023-01-01' + n, 1
FROM generate_series(1, 150) AS n;
INSERT INTO public.inventory (film_id, store_id) SELECT 1 + n % 200, 1 + n % 2 FROM generate_series(1, 400) AS n;
INSERT INTO public.rental (rental_date, inventory_id, customer_id, return_date, staff_id)
SELECT TIMESTAMPTZ '2024-01-01 10:00:00+00' + n * INTERVAL '4 hours', 1 + n % 400, 1 + n % 150,
       CASE WHEN n % 10 > 0 THEN TIMESTAMPTZ '2024-01-03 10:00:00+00' + n * INTERVAL '4 hours' END, 1 + n % 2
FROM generate_series(1, 500) AS n;
INSERT INTO public.payment (customer_id, staff_id, rental_id, amount, payment_date)
SELECT customer_id, staff_id, rental_id, 0.99 + rental_id % 5, rental_date FROM public.rental;

-module(shop).

%% The sum of the lines.
-spec total([line()]) ->
    number().
total([]) -> 0;
total([Line | Rest]) when Line > 0 ->
    Line + total(Rest).

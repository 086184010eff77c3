type alias Model =
        1

update : Msg -> Model -> Model
        1

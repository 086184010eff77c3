Import-Module $PSScriptRoot/../Visit.psm1 -ErrorAction Stop
function Walk {
    param (
        $OnContainer = {},
        $OnBlock = {
        }
    )
    $OnBlock
}
function Other { 1 }

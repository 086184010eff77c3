// Counts coins.
contract Token is Base {
  modifier only() { _; }

  mapping(address => uint) public held;

  constructor() Base("a") {
    held[msg.sender] = 1;
  }

  function pay(
    uint amount
  )
    external
    returns (uint)
  {
    return amount;
  }

  uint public total;
}

const uint THREE = 3;

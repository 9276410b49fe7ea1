-- main.lua: the command line of tarn-lab.
return {main = function() print("tarn-lab") return 0 end}

# 8: a terminal: size, its change, Ctrl-C, UTF-8, hang-up, Ctrl-Z, vim
needs stty
python3 "$clients/terminal.py" "$config"

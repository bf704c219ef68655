echo "quota: 42 of 100 GB"

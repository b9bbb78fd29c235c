{{- define "videogen.fullname" -}}
{{- if .Values.fullnameOverride }}{{ .Values.fullnameOverride | trunc 40 | trimSuffix "-" }}
{{- else if contains "videogen" .Release.Name }}{{ .Release.Name | trunc 40 | trimSuffix "-" }}
{{- else }}{{ printf "%s-videogen" .Release.Name | trunc 40 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "videogen.selector" -}}
app.kubernetes.io/name: videogen
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "videogen.labels" -}}
{{ include "videogen.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* `.root`, and `.image` of a group of workers, whose tag or digest replaces the chart's. */}}
{{- define "videogen.image" -}}
{{- $image := .root.Values.image -}}
{{- $own := .image | default dict -}}
{{- $repository := required "image.repository: set it to where you pushed the image" ($own.repository | default $image.repository) }}
{{- if $own.digest }}{{ $repository }}@{{ $own.digest }}
{{- else if $own.tag }}{{ $repository }}:{{ $own.tag }}
{{- else if $image.digest }}{{ $repository }}@{{ $image.digest }}
{{- else }}{{ $repository }}:{{ $image.tag | default .root.Chart.AppVersion }}{{ end }}
{{- end }}

{{- define "videogen.serviceAccount" -}}
{{- if .Values.serviceAccount.create }}{{ .Values.serviceAccount.name | default (include "videogen.fullname" .) }}
{{- else }}{{ .Values.serviceAccount.name | default "default" }}{{ end }}
{{- end }}

{{- define "videogen.secretName" -}}
{{- if .Values.secrets.create }}{{ include "videogen.fullname" . }}-secrets
{{- else }}{{ required "secrets.existingSecret: name a Secret with DATABASE_URL and VIDEOGEN_SECRET" .Values.secrets.existingSecret }}{{ end }}
{{- end }}

{{- define "videogen.catalogueMap" -}}
{{- if .Values.catalogue.content }}{{ include "videogen.fullname" . }}-catalogue{{ else }}{{ .Values.catalogue.existingConfigMap }}{{ end }}
{{- end }}

{{- define "videogen.claim" -}}
{{- .Values.results.volume.existingClaim | default (printf "%s-results" (include "videogen.fullname" .)) }}
{{- end }}

{{/* Variables of a process. `settings` are its own, which count before those of all, also if they are empty. `bucketKey`: it opens the bucket. */}}
{{- define "videogen.env" -}}
{{- $values := .root.Values -}}
{{- $results := $values.results -}}
{{- $env := deepCopy $values.settings -}}
{{- range $name, $value := .settings }}{{ $_ := set $env $name $value }}{{ end -}}
{{- $_ := required "settings.TEMPORAL_ADDRESS: set it to host:port of Temporal" (get $env "TEMPORAL_ADDRESS") -}}
{{- $_ := set $env "PUBLIC_URL" (required "publicUrl: set it to the address that clients use" $values.publicUrl) -}}
{{- $_ := set $env "HOST" (get $env "HOST" | default "0.0.0.0") -}}
{{- $_ := set $env "PORT" "3000" -}}
{{- $_ := set $env "VIDEOGEN_BASE_URL" "http://127.0.0.1:3000" -}}
{{- $_ := set $env "METRICS_PORT" (toString $values.metrics.port) -}}
{{- $_ := set $env "SHUTDOWN_DELAY" (printf "%vs" $values.shutdownDelaySeconds) -}}
{{- $_ := set $env "VIDEOGEN_DATA" "/data" -}}
{{- if eq $results.type "s3" -}}
{{- $_ := set $env "RESULT_STORE" (printf "s3://%s" (required "results.s3.bucket: set it to BUCKET or BUCKET/PREFIX, or set results.type to volume" $results.s3.bucket)) -}}
{{- else -}}
{{- $_ := set $env "RESULT_STORE" "/results/videos" -}}
{{- end -}}
{{- $_ := set $env "RESULT_STORE_ALSO" $results.also -}}
{{- $_ := set $env "AWS_REGION" $results.s3.region -}}
{{- $_ := set $env "AWS_ENDPOINT_URL_S3" $results.s3.endpoint -}}
{{- $_ := set $env "S3_PATH_STYLE" $results.s3.pathStyle -}}
{{- if include "videogen.catalogueMap" .root -}}
{{- $_ := set $env "VIDEOGEN_MODELS" (printf "/etc/videogen/catalogue/%s" $values.catalogue.key) -}}
{{- end -}}
{{- range $setting, $_ := $values.secrets.keys }}
{{- $_ := set $env (printf "%s_FILE" $setting) (printf "/etc/videogen/secrets/%s" $setting) -}}
{{- end -}}
{{- range $name, $value := $env }}
{{- if ne (toString $value) "" }}
- name: {{ $name }}
  value: {{ toString $value | quote }}
{{- end }}
{{- end }}
{{- if and .bucketKey $results.s3.existingSecret }}
{{- range $name := list "AWS_ACCESS_KEY_ID" "AWS_SECRET_ACCESS_KEY" }}
- name: {{ $name }}
  valueFrom: { secretKeyRef: { name: {{ $results.s3.existingSecret }}, key: {{ $name }} } }
{{- end }}
{{- end }}
{{- with $values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}
